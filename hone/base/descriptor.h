#pragma once

/// Open files and pipes of the system that close themselves.
namespace hone {

/// A descriptor, or none (-1). Closes once.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void set(int number) { number_ = number; }
  void close();

 private:
  int number_;
};

/// The two ends of a pipe, which no program that is started inherits. Throws `UserError` where the system has none left.
struct Pipe {
  Descriptor reader, writer;
  Pipe();
};

}  // namespace hone
