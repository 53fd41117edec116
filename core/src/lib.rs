//! The bridge's hub as a sans-IO state machine: no_std, no alloc.
