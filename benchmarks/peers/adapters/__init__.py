"""One file a library: a class `Adapter` that keeps the contract with it."""
