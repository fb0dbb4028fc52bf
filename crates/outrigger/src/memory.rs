//! Gives the memory of large texts back to the system.
//!
//! The allocator of the GNU C library hands large blocks back at once, but raises its idea of
//! "large" to the size of the largest block it has seen. After one proposal of ten megabytes
//! the texts of all later ones stay with the process for good: about 200 MB were measured. A
//! companion runs all day, so the idea is fixed here.

/// Blocks from this size on are given back as soon as they are free.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 1 << 20;

/// To be called once, before any thread is started.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "there is no safe way to set an option of the C library's allocator"
)]
pub(crate) fn give_back_large_blocks() {
    // SAFETY: the function only sets a number, and no other thread exists yet that could read it.
    // It can fail only for unknown options, and then nothing has changed.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

/// Other allocators do so by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back_large_blocks() {}
