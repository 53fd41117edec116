//! Joins the hub with its connections on any async runtime.
