// A prototype library of our own: registers operators as those of real packages do. Spec 07, OPR-507.
//
// It is declared here as it is seen from outside, and defined by nobody: a real one links libgraph.so.
// Where a word of the command line has this name in it, the constructor does something else: crash, hang,
// exit, flood, forged, cut, grows. -DLARGE: 20 MiB more.

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace ge {
enum DataType : int32_t { DT_INT64 = 9, DT_BOOL = 12 };

class AscendString {
 public:
  AscendString(char const *text);

 private:
  std::shared_ptr<std::string> text_;
};

class TensorType {
 public:
  TensorType(std::initializer_list<DataType> const &types);

 private:
  std::shared_ptr<int> impl_;
};

class Tensor {
 public:
  Tensor();

 private:
  std::shared_ptr<int> impl_;
};

class Shape {
 public:
  void SetDim(size_t index, int64_t value);  // nobody defines it, and nobody calls it here
};

class Operator {
 public:
  Operator(AscendString const &name, AscendString const &type);
  virtual ~Operator() = default;
  void InputRegister(char const *name, char const *types);
  void OptionalInputRegister(char const *name, char const *types);
  void OutputRegister(char const *name, char const *types);
  void DynamicInputRegister(char const *name, unsigned count, char const *types, bool last);
  void DynamicOutputRegister(char const *name, unsigned count, char const *types, bool last);
  void RequiredAttrWithTypeRegister(char const *name, char const *kind);
  void DataTypeRegister(char const *name, TensorType const &type);
  void AttrRegister(char const *name, long value);
  void AttrRegister(char const *name, float value);
  void AttrRegister(char const *name, bool value);
  void AttrRegister(char const *name, AscendString const &value);
  void AttrRegister(char const *name, DataType const &value);
  void AttrRegister(char const *name, Tensor const &value);
  void AttrRegister(char const *name, std::vector<long> const &value);
  void AttrRegister(char const *name, std::vector<float> const &value);
  void AttrRegister(char const *name, std::vector<bool> const &value);
  void AttrRegister(char const *name, std::vector<DataType> const &value);
  void AttrRegister(char const *name, std::vector<AscendString> const &value);
  void AttrRegister(char const *name, std::vector<std::vector<long>> const &value);

 private:
  std::shared_ptr<int> impl_;
};

class OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(char const *type, std::function<Operator(AscendString const &)> const &creator);
};
class InferShapeFuncRegister {
 public:
  InferShapeFuncRegister(char const *type, std::function<uint32_t(Operator &)> const &function);
};
}  // namespace ge

#ifdef LARGE
extern char const large[20 << 20] = {1};
#endif

namespace {

class AddN : public ge::Operator {
 public:
  AddN() : ge::Operator("", "AddN") {
    DynamicInputRegister("x", 0, "TensorType({NumberType(), DT_VARIANT})", true);
    OutputRegister("y", "TensorType({NumberType(), DT_VARIANT})");
    RequiredAttrWithTypeRegister("N", "Int");
  }
};

class All : public ge::Operator {
 public:
  explicit All(long n) : ge::Operator("", "CustAll") {
    InputRegister("x", "TensorType({ge::DT_FLOAT, DT_INT32})");
    OptionalInputRegister("mask", "TensorType({DT_BOOL})");
    DynamicOutputRegister("y", 0, "TensorType::BasicType()", true);
    DataTypeRegister("T", ge::TensorType({ge::DT_INT64}));
    AttrRegister("n", n);
    AttrRegister("scale", 0.1f);
    AttrRegister("flag", true);
    AttrRegister("mode", ge::AscendString("a b%\n\xc3\xa9"));
    AttrRegister("empty", ge::AscendString(""));
    AttrRegister("dtype", ge::DT_INT64);
    AttrRegister("value", ge::Tensor());
    AttrRegister("ints", std::vector<long>{-1, INT64_MAX});
    AttrRegister("none", std::vector<long>{});
    AttrRegister("floats", std::vector<float>{1.5f, -2.0f});
    AttrRegister("bools", std::vector<bool>{true, false});
    AttrRegister("types", std::vector<ge::DataType>{ge::DT_BOOL, ge::DT_INT64});
    AttrRegister("strings", std::vector<ge::AscendString>{"a", "", "b c"});
    AttrRegister("rows", std::vector<std::vector<long>>{{1, 2}, {}, {3}});
    RequiredAttrWithTypeRegister("size", "ListInt");
    RequiredAttrWithTypeRegister("odd", "NamedAttrs");
  }
};

uint32_t Infer(ge::Operator &) {
  ge::Shape().SetDim(0, 1);
  return 0;
}

std::string CommandLine() {
  char text[4096];
  const int file = open("/proc/self/cmdline", O_RDONLY);
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  return std::string(text, size > 0 ? size : 0);
}

void Begin() {
  const std::string line = CommandLine();
  const auto is_called = [&line](char const *name) { return line.find(name) != std::string::npos; };
  if (is_called("crash.so")) *reinterpret_cast<volatile int *>(8) = 1;
  while (is_called("hang.so")) pause();
  if (is_called("exit.so")) {
    fprintf(stderr, "cannot go on\n");
    _exit(3);
  }
  while (is_called("flood.so")) puts("y");
  if (is_called("forged.so")) {
    for (int fd = 3; fd < 64; ++fd) dprintf(fd, "op Good\nattr n Int many\nend\n");
  }
  if (is_called("cut.so")) _exit(0);
  while (is_called("grows.so")) memset(malloc(1 << 20), 1, 1 << 20);
}

const int begun = (Begin(), 0);
const ge::OperatorCreatorRegister add_n("AddN", [](ge::AscendString const &) { return AddN(); });
const ge::OperatorCreatorRegister all("CustAll", [](ge::AscendString const &) { return All(7); });
const ge::OperatorCreatorRegister again("CustAll", [](ge::AscendString const &) { return All(7); });
const ge::OperatorCreatorRegister other("CustAll", [](ge::AscendString const &) { return All(8); });
const ge::InferShapeFuncRegister infer("AddN", Infer);

}  // namespace
