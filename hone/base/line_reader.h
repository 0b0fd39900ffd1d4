#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone {

/// Lines of a stream that may be slow, such as a pipe or a keyboard, in bounded memory.
///
///     LineReader reader(STDIN_FILENO, "standard input");
///     while (!(lines = reader.next(1024)).empty()) answer(lines);    // one by one as they are typed
class LineReader {
 public:
  /// `name` opens messages.
  LineReader(int descriptor, std::string name);

  /// The next lines without their ends (LF or CRLF), as they come: waits for one, and takes with it those that are there
  /// already, `most` at the most. Empty at the end. The last line needs no end; a byte order mark at the start is skipped.
  /// Throws `UserError` for a line of more than 64 MiB and when reading fails, `Interrupted`.
  std::vector<std::string> next(std::size_t most);

 private:
  bool read_more(bool wait);
  bool take_line(std::vector<std::string>& lines);

  int descriptor_;
  std::string name_;
  std::string buffer_;  // read and not yet given out, from `begin_` on
  std::size_t begin_ = 0;
  std::size_t scanned_ = 0;  // no line ends before it
  std::size_t lines_ = 0;
  bool ended_ = false;
};

}  // namespace hone
