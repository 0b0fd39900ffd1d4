#include <xmmintrin.h>

#include "hone/runtime/plugin.h"

namespace {

// What gcc links into a library that is built with -ffast-math: on the thread that loads it, numbers too
// small for a normal float become zero.
__attribute__((constructor)) void flush_small_numbers() { _mm_setcsr(_mm_getcsr() | 0x8040); }

}  // namespace

HONE_PLUGIN(library) { library.formats.clear(); }
