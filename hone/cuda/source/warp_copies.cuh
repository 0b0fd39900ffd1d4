#pragma once
// Wrappers of the instructions that bring matrices from memory to the tensor cores of a warp (sm_80 and up).
#include "cstdint"

inline std::uint32_t shared_address(const void* x) { return std::uint32_t(__cvta_generic_to_shared(x)); }

// Loads four 8 x 8 matrices; lanes 8 i to 8 i + 7 pass the addresses of the rows of matrix i. Lane 4 g + c gets the
// columns 2 c and 2 c + 1 of row g of each, or, transposed, the rows 2 c and 2 c + 1 of column g.
inline void load_matrices(std::uint32_t (&x)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(address)
               : "memory");
}
inline void load_transposed_matrices(std::uint32_t (&x)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(address)
               : "memory");
}

// Begins to copy 16 bytes of global memory, or zeros, to shared memory. A thread's copies are done when it has waited
// for all but the latest `kPending` commits.
inline void begin_copy(std::uint32_t to, const void* from, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(is_there ? 16 : 0) : "memory");
}
// The same for 4 bytes.
inline void begin_word_copy(std::uint32_t to, const void* from, bool is_there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(is_there ? 4 : 0) : "memory");
}
inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
