//! Signatures: HMAC-SHA256 over `ID.TIMESTAMP.BODY`, base64, `v1,` before it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::SecretString;
use sha2::Sha256;

use crate::error::{ApiError, ApiResult};

/// What every secret begins with.
const PREFIX: &str = "whsec_";

/// A new secret: 32 random bytes.
///
/// # Errors
/// When the operating system has no random numbers to give.
pub fn generate_secret() -> ApiResult<SecretString> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(SecretString::from(format!("{PREFIX}{}", STANDARD.encode(bytes))))
}

/// The value of `webhook-signature`; `None` for a secret that is none.
pub fn sign(secret: &str, id: &str, timestamp: i64, body: &str) -> Option<String> {
    let key = STANDARD.decode(secret.strip_prefix(PREFIX)?).ok()?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standards_own_example_is_signed_as_it_says() {
        // From the reference libraries' tests (standard-webhooks/standard-webhooks).
        let signed = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            "{\"test\": 2432232314}",
        );
        assert_eq!(signed.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }

    #[test]
    fn what_is_no_secret_signs_nothing() {
        assert_eq!(sign("whsec_%", "a", 1, ""), None);
        assert_eq!(sign("abc", "a", 1, ""), None);
    }
}
