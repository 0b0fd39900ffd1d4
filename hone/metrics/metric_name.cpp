#include "hone/metrics/metric_name.h"

#include "hone/base/error.h"

namespace hone {

MetricName metric_name(std::string_view key) {
  for (const MetricName& metric : {kAccuracy, kR2, kMicroF1, kSubsetAccuracy})
    if (metric.key == key) return metric;
  fail("'{}' is not the main metric of a task", key);
}

void read_field_text(const std::string& key, MetricName& name) {
  name = {key, key};
  for (const MetricName& known : {kAccuracy, kR2, kMicroF1, kSubsetAccuracy})
    if (known.key == key) name = known;
}

}  // namespace hone
