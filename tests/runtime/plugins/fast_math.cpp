#include <xmmintrin.h>

#include "hone/runtime/plugin.h"

namespace {

// gcc links such code into libraries built with -ffast-math: subnormal results become zero on the thread that loads the
// library.
__attribute__((constructor)) void flush_small_numbers() { _mm_setcsr(_mm_getcsr() | 0x8040); }

}  // namespace

HONE_PLUGIN(library) { library.formats.clear(); }
