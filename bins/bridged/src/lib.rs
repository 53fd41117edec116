//! The browser bridge's daemon.
