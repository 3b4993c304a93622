//! Permissions as types: a handler that takes `Authorised<Operator>` and compiles is a handler that was authorised.

use std::marker::PhantomData;

use foresite_store::state::Role;

use super::Principal;
use crate::error::{ApiError, ApiResult, Code};

/// A permission, named by the smallest role that has it.
pub trait Permission: 'static {
    /// The smallest role that suffices.
    const ROLE: Role;
}

/// May read.
#[derive(Clone, Copy, Debug)]
pub struct Viewer;

/// May upload, start and cancel.
#[derive(Clone, Copy, Debug)]
pub struct Operator;

/// May manage tokens.
#[derive(Clone, Copy, Debug)]
pub struct Admin;

impl Permission for Viewer {
    const ROLE: Role = Role::Viewer;
}

impl Permission for Operator {
    const ROLE: Role = Role::Operator;
}

impl Permission for Admin {
    const ROLE: Role = Role::Admin;
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
/// 403 if the role is too small.
pub fn authorise<P: Permission>(principal: Principal) -> ApiResult<Authorised<P>> {
    if principal.role < P::ROLE {
        return Err(ApiError::new(
            Code::Forbidden,
            format!("this needs the role {}, the token has {}", P::ROLE, principal.role),
        ));
    }
    Ok(Authorised { principal, permission: PhantomData })
}
