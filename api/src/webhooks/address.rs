//! Where webhooks may go: public addresses over TLS, and networks that whoever runs the service has allowed. A name is resolved
//! once, every address it has is judged, and the connection goes to those very addresses: a second answer of the name server
//! changes nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use url::{Host, Url};

/// Networks that are allowed although they are private.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkRules(Vec<IpNet>);

/// Why a webhook must not go there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// It cannot be read, or is not of a kind we send to.
    #[error("{0}")]
    Shape(String),
    /// It leads into a private network.
    #[error("{0} is not a public address; whoever runs the service may allow its network")]
    Private(IpAddr),
    /// Without TLS only allowed networks are told.
    #[error("without TLS only networks that are allowed are told; use https://")]
    Plain,
    /// The name has no address.
    #[error("the name has no address: {0}")]
    Unresolved(String),
}

/// A URL with the addresses that may be connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The URL.
    pub url: Url,
    /// Its host as the URL has it.
    pub host: String,
    /// Judged addresses.
    pub addresses: Vec<SocketAddr>,
}

impl FromStr for NetworkRules {
    type Err = String;

    /// Reads networks with commas between: `10.1.0.0/16, fd00::/8`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let read = |part: &str| part.parse().map_err(|error| format!("{part:?} is no network: {error}"));
        parts.map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl NetworkRules {
    /// Checks what can be checked without asking a name server.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn check(&self, text: &str) -> Result<Url, UrlFault> {
        let shape = |words: &str| UrlFault::Shape(words.to_owned());
        if text.chars().any(char::is_control) {
            return Err(shape("it has control characters"));
        }
        let url = Url::parse(text).map_err(|error| UrlFault::Shape(format!("it is no URL: {error}")))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(shape("it must begin with https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(shape("user names and passwords are not sent; check the signature instead"));
        }
        if url.fragment().is_some() {
            return Err(shape("it must have no fragment (#…)"));
        }
        match url.host() {
            None => return Err(shape("it names no host")),
            Some(Host::Ipv4(address)) => self.judge(&url, address.into())?,
            Some(Host::Ipv6(address)) => self.judge(&url, address.into())?,
            Some(Host::Domain(_)) if url.scheme() == "http" && self.0.is_empty() => return Err(UrlFault::Plain),
            Some(Host::Domain(_)) => {}
        }
        Ok(url)
    }

    /// Resolves and judges a URL.
    ///
    /// # Errors
    /// What is wrong with it, or with any address it has.
    pub async fn resolve(&self, text: &str) -> Result<Destination, UrlFault> {
        let url = self.check(text)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let port = url.port_or_known_default().unwrap_or(443);
        let addresses: Vec<SocketAddr> = match url.host() {
            Some(Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), port)],
            Some(Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), port)],
            _ => {
                let found = tokio::net::lookup_host((host.as_str(), port)).await;
                found.map_err(|error| UrlFault::Unresolved(error.to_string()))?.collect()
            }
        };
        if addresses.is_empty() {
            return Err(UrlFault::Unresolved(host));
        }
        for address in &addresses {
            self.judge(&url, address.ip())?;
        }
        Ok(Destination { url, host, addresses })
    }

    fn judge(&self, url: &Url, address: IpAddr) -> Result<(), UrlFault> {
        let address = address.to_canonical();
        if self.0.iter().any(|network| network.contains(&address)) {
            return Ok(());
        }
        if !is_public(address) {
            return Err(UrlFault::Private(address));
        }
        if url.scheme() == "http" { Err(UrlFault::Plain) } else { Ok(()) }
    }
}

/// Whether anybody on the internet could be meant (IANA's special-purpose registries). An IPv6 address that carries an IPv4
/// address is judged by that too.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = a == 0 // this network
        || a == 10
        || (a == 100 && (64..128).contains(&b)) // carrier-grade NAT, also clouds' metadata
        || a == 127
        || (a == 169 && b == 254) // link-local, metadata services
        || (a == 172 && (16..32).contains(&b))
        || (a == 192 && b == 0 && (c == 0 || c == 2))
        || (a == 192 && b == 88 && c == 99)
        || (a == 192 && b == 168)
        || (a == 198 && (b == 18 || b == 19))
        || (a == 198 && b == 51 && c == 100)
        || (a == 203 && b == 0 && c == 113)
        || a >= 224; // multicast, reserved, broadcast
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([p, q], [r, s]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(p, q, r, s))
    };
    match (a, b) {
        // NAT64 and 6to4 lead to the IPv4 address they carry.
        (0x64, 0xff9b) if (c, d, e, f) == (0, 0, 0, 0) => v4(g, h),
        (0x2002, _) => v4(b, c),
        // Teredo, benchmarking, ORCHID, documentation.
        (0x2001, 0 | 2 | 0x10..=0x3f | 0xdb8) => false,
        (0x3fff, _) => false,
        // Only 2000::/3 is given out; the rest is loopback, unique local, link-local, multicast or nobody's.
        _ => a & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn private_loopback_link_local_and_metadata_addresses_are_refused() {
        let refused = "0.0.0.0 10.1.2.3 100.100.100.200 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.9.9 \
            192.0.0.1 192.168.0.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 \
            fe80::1 fc00::1 fd00:ec2::254 ff02::1 64:ff9b::7f00:1 2002:7f00:1:: 2002:a00:1:: 2001:db8::1 2001::1 \
            ::127.0.0.1 64:ff9b:1::1";
        for text in refused.split_whitespace() {
            let address: IpAddr = text.parse().unwrap();
            assert!(!is_public(address.to_canonical()), "{text}");
        }
        for text in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn urls_that_hide_where_they_lead_are_refused() {
        let rules = NetworkRules::default();
        let refused = [
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://0177.0.0.1/",
            "https://[::1]/",
            "https://[::ffff:169.254.169.254]/",
            "http://example.org/",
            "ftp://example.org/",
            "https://u:p@example.org/",
            "file:///etc/passwd",
            "https://",
            "nonsense",
            "https://example.org/\0",
            "https://exa\nmple.org/",
            "https://example.org/#x",
            "https://１２７.0.0.1/",
        ];
        for url in refused {
            assert!(rules.check(url).is_err(), "{url}");
        }
        assert!(rules.check("https://example.org:8443/hook?x=1").is_ok());
    }

    #[tokio::test]
    async fn names_are_judged_by_every_address_they_have() {
        let fault = NetworkRules::default().resolve("https://localhost/").await.unwrap_err();
        assert!(matches!(fault, UrlFault::Private(_)), "{fault}");
        let rules: NetworkRules = "127.0.0.0/8, ::1/128".parse().unwrap();
        let found = rules.resolve("http://localhost:81/x").await.unwrap();
        assert!(found.addresses.iter().all(|address| address.ip().is_loopback() && address.port() == 81), "{found:?}");
        assert_eq!(rules.check("http://10.0.0.1/"), Err(UrlFault::Private("10.0.0.1".parse().unwrap())));
        assert!("10.0.0.0/33".parse::<NetworkRules>().is_err());
    }
}
