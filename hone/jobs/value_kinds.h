#pragma once

#include "hone/base/options.h"

/// The kinds of values that options of jobs accept, for `OptionDef::takes`.
namespace hone {

extern const ValueKind kModelValue;         ///< a model folder, a name on the hub, or fresh weights
extern const ValueKind kDataValue;          ///< see `load_data_set`
extern const ValueKind kAdapterValue;       ///< the folder of a LoRA adapter
extern const ValueKind kOutputFolderValue;  ///< a folder to write
extern const ValueKind kReadFileValue;
extern const ValueKind kWrittenFileValue;
extern const ValueKind kFigureValue;  ///< file name of a figure, without extension
extern const ValueKind kFormatValue;
extern const ValueKind kFormatOrNoneValue;  ///< "none" means fp32
extern const ValueKind kFormatPairValue;    ///< WEIGHTS/INPUTS
extern const ValueKind kFormatOrNoneListValue;
extern const ValueKind kFormatListValue;  ///< comma-separated
extern const ValueKind kStorageValue;     ///< storage of a study, for reading
extern const ValueKind kPassValue;
extern const ValueKind kMetricValue;

}  // namespace hone
