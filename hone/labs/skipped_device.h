#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/fields.h"
#include "hone/report/table.h"
#include "hone/runtime/context.h"

/// The device that a lab did not run on, and the reason to show in its tables.
namespace hone {

/// A kind of device that a lab did not run on.
struct OtherDevice {
  std::string name;     ///< "cuda"
  std::string why_not;  ///< "not run: no device (…)", "not run: use `device` cuda"
};

const Fields& fields_of(const OtherDevice*);

/// Returns the kind of device that the context does not use.
OtherDevice other_device(const Context& context);

/// Joins tables with the same columns. Each row begins with the name of its table, under `column`.
Table joined(const Column& column, const std::vector<std::pair<std::string, Table>>& tables);

}  // namespace hone
