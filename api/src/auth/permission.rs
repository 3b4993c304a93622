//! Permissions as types: a handler that takes `Authorised<WriteSites>` and compiles is a handler that was authorised.

use std::marker::PhantomData;

use foresite_store::state::{Role, Scope};

use super::Principal;
use crate::error::{ApiError, ApiResult, Code};

/// A permission: the smallest role that has it, and the scope a narrowed token needs for it.
pub trait Permission: 'static {
    /// The smallest role that suffices.
    const ROLE: Role;
    /// The scope that a token with scopes must have.
    const SCOPE: Scope;
}

/// Declares the permissions.
macro_rules! permissions {
    ($($(#[$meta:meta])* $name:ident = $role:ident, $scope:ident;)+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl Permission for $name {
                const ROLE: Role = Role::$role;
                const SCOPE: Scope = Scope::$scope;
            }
        )+
    };
}

permissions! {
    /// May read sites, configurations and traces.
    ReadSites = Viewer, SitesRead;
    /// May make sites, upload and delete their files.
    WriteSites = Operator, SitesWrite;
    /// May read studies and their results.
    ReadStudies = Viewer, StudiesRead;
    /// May start, cancel and delete studies.
    WriteStudies = Operator, StudiesWrite;
    /// May make, list and revoke tokens.
    ManageTokens = Admin, TokensManage;
    /// May make, read and delete webhooks.
    ManageWebhooks = Admin, WebhooksManage;
    /// May read limits and what is used of them.
    ReadQuotas = Viewer, QuotasRead;
    /// May set limits.
    ManageQuotas = Admin, QuotasManage;
    /// May read the audit log.
    ReadAudit = Admin, AuditRead;
}

/// A caller that has the permission `P`. Made only by [`authorise`].
#[derive(Clone, Debug)]
pub struct Authorised<P: Permission> {
    principal: Principal,
    permission: PhantomData<P>,
}

impl<P: Permission> Authorised<P> {
    /// The caller.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }
}

/// Checks that a caller has the permission.
///
/// # Errors
/// 403 if the role is too small or the token's scopes leave it out.
pub fn authorise<P: Permission>(principal: Principal) -> ApiResult<Authorised<P>> {
    if principal.role < P::ROLE {
        return Err(ApiError::new(
            Code::Forbidden,
            format!("this needs the role {}, the token has {}", P::ROLE, principal.role),
        ));
    }
    if !principal.may(P::SCOPE) {
        return Err(ApiError::new(
            Code::Forbidden,
            format!("this needs the scope {}, to which the token is not entitled", P::SCOPE),
        ));
    }
    Ok(Authorised { principal, permission: PhantomData })
}
