//! Rewrites what Valhall lacks into what it has, SSA to SSA, under the published numerics.
