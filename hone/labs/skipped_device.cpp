#include "hone/labs/skipped_device.h"

#include "hone/base/error.h"
#include "hone/cuda/driver.h"

namespace hone {

OtherDevice other_device(const Context& context) {
  if (context.device != &cpu()) return {"cpu", "not run: use `device` cpu"};
  const std::string missing = cuda::driver_missing();
  return {"cuda", missing.empty() ? "not run: use `device` cuda"
                                  : fmt::format("not run: no device ({})", missing)};
}

const Fields& fields_of(const OtherDevice*) {
  using O = OtherDevice;
  static const Fields fields = describe<O>("lab_device", "A device that a lab was not run on.",
                                           field<&O::name>("device", "Kind of device."),
                                           field<&O::why_not>("why_not", "Reason."));
  return fields;
}

Table joined(const Column& column, const std::vector<std::pair<std::string, Table>>& tables) {
  HONE_ASSERT(!tables.empty(), "no tables");
  std::vector<Column> columns = {column};
  const auto& own = tables.front().second.columns();
  columns.insert(columns.end(), own.begin(), own.end());
  Table all(columns);
  for (const auto& [name, table] : tables)
    for (const std::vector<Cell>& row : table.rows()) {
      std::vector<Cell> cells = {name};
      cells.insert(cells.end(), row.begin(), row.end());
      all.add_row(std::move(cells));
    }
  return all;
}

}  // namespace hone
