#pragma once

#include "hone/base/options.h"

/// What options of jobs take: for `OptionDef::takes`.
namespace hone {

extern const ValueKind kModelValue;         ///< a model folder, a name on the hub, or fresh weights
extern const ValueKind kDataValue;          ///< data, as `load_data_set` takes it
extern const ValueKind kAdapterValue;       ///< the folder of a LoRA adapter
extern const ValueKind kOutputFolderValue;  ///< a folder that is written
extern const ValueKind kReadFileValue;
extern const ValueKind kWrittenFileValue;
extern const ValueKind kFigureValue;  ///< a figure's files, by their name without an ending
extern const ValueKind kFormatValue;
extern const ValueKind kFormatOrNoneValue;  ///< "none" stands for fp32
extern const ValueKind kFormatPairValue;    ///< WEIGHTS/INPUTS
extern const ValueKind kFormatOrNoneListValue;
extern const ValueKind kFormatListValue;  ///< apart by commas
extern const ValueKind kStorageValue;     ///< a study's storage that is read
extern const ValueKind kPassValue;
extern const ValueKind kMetricValue;

}  // namespace hone
