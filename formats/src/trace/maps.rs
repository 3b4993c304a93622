//! Maps for a look-up per row: seeded anew in every process, so that hostile names collide no more than others, and quicker than
//! the standard hasher. Nothing iterates over them.

/// A map.
pub(super) type Map<K, V> = std::collections::HashMap<K, V, ahash::RandomState>;
/// A set.
pub(super) type Set<K> = std::collections::HashSet<K, ahash::RandomState>;
