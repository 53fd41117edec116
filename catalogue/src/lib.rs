//! Every method of the bridge, with its parameters and results, as one table.
