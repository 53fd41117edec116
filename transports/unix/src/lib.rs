//! The Unix socket door: NDJSON framing, socket file, peer credentials.
