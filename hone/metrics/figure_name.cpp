#include "hone/metrics/figure_name.h"

#include "hone/base/error.h"

namespace hone {

FigureName figure_name(std::string_view key) {
  for (const FigureName& figure : {kAccuracy, kR2, kMicroF1, kSubsetAccuracy})
    if (figure.key == key) return figure;
  fail("a result is judged by the figure '{}', which this version does not know", key);
}

}  // namespace hone
