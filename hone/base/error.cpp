#include "hone/base/error.h"

namespace hone::detail {

void assertion_failed(const char* file, int line, const char* condition,
                      const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {} ({} does not hold)", file, line, message, condition));
}

}  // namespace hone::detail
