#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/fields.h"
#include "hone/report/table.h"
#include "hone/runtime/context.h"

/// Labs that run on one kind of device say of the other why it is not in their tables.
namespace hone {

/// A kind of device that a lab did not run on.
struct OtherDevice {
  std::string name;     ///< "cuda"
  std::string why_not;  ///< "not run: no device (…)", "not run: give `device` cuda"
};

const Fields& fields_of(const OtherDevice*);

/// The one that the context does not run on.
OtherDevice other_device(const Context& context);

/// Tables with the same columns one below the other, each row with the name of its table in front, under `column`.
Table joined(const Column& column, const std::vector<std::pair<std::string, Table>>& tables);

}  // namespace hone
