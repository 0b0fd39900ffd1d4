#include "hone/cli/print_result.h"

#include <fmt/core.h>

#include "hone/study/result.h"

namespace hone {

void print_result(std::string_view command, const Json& fields) {
  fmt::print("{}\n", to_line(result_of(command, fields)));
}

}  // namespace hone
