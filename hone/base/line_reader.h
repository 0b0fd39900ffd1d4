#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone {

/// Reads lines of a possibly slow stream, such as a pipe or a keyboard, in bounded memory.
///
///     LineReader reader(STDIN_FILENO, "standard input");
///     while (!(lines = reader.next(1024)).empty()) answer(lines);    // one by one as they are typed
class LineReader {
 public:
  /// Messages begin with `name`.
  LineReader(int descriptor, std::string name);

  /// Returns the next lines without line ends (LF or CRLF): waits for one, and adds those already available, at most
  /// `most`. Empty at the end. The last line needs no line end; a byte order mark at the start is skipped. Throws
  /// `UserError` for a line of more than 64 MiB and for read errors, and `Interrupted`.
  std::vector<std::string> next(std::size_t most);

 private:
  bool read_more(bool wait);
  bool take_line(std::vector<std::string>& lines);

  int descriptor_;
  std::string name_;
  std::string buffer_;  // unread text from `begin_` on
  std::size_t begin_ = 0;
  std::size_t scanned_ = 0;  // no line end before it
  std::size_t lines_ = 0;
  bool ended_ = false;
};

}  // namespace hone
