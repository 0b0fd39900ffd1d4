#include "tests/support/test_data.h"

namespace hone {

fs::path test_data() { return HONE_TEST_DATA; }

}  // namespace hone
