// Without a GPU: what is said where the driver is missing, and what a damaged module is.
#include <gtest/gtest.h>

#include "ir/text/text.h"
#include "targets/cuda/driver/device.h"
#include "targets/cuda/driver/module.h"

namespace frazil::targets::cuda {
namespace {

TEST(Driver, MissingLibraryIsNoDevice) {
  const auto device = Device::Open("libfrazil_there_is_no_such_driver.so.1");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().diag, Diag::NoDevice);
  EXPECT_NE(device.error().message.find("no usable NVIDIA GPU: "), std::string::npos);
  // Asking again gives the same answer.
  EXPECT_FALSE(Device::Open("libfrazil_there_is_no_such_driver.so.1"));
}

TEST(Driver, OtherLibraryIsTooOld) {
  const auto api = OpenApi("libm.so.6");
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().diag, Diag::NoDevice);
  EXPECT_NE(api.error().message.find("cuInit"), std::string::npos) << api.error().message;
}

PtxModule Small() {
  PtxModule module;
  module.arch = "sm_90";
  module.text = "// nothing";
  module.source = *ir::ParseText("frz 1\nfunc @main(%n: index) {\n  return\n}\n");
  module.sizes = *ir::ParseText("frz 1\nfunc @main(%n: index) -> (index) {\n  return %n\n}\n");
  PtxStep step;
  step.kind = StepKind::Flat;
  step.entry = "k";
  step.threads = 256;
  step.hi = 0;
  module.steps.push_back(step);
  return module;
}

TEST(Modules, WrongNumbersAreRefused) {
  EXPECT_TRUE(ParseModule(SerializeModule(Small())));
  PtxModule size = Small();
  size.steps[0].hi = 1;
  EXPECT_FALSE(ParseModule(SerializeModule(size)));
  PtxModule threads = Small();
  threads.steps[0].threads = 2048;
  EXPECT_FALSE(ParseModule(SerializeModule(threads)));
  PtxModule pair = Small();
  pair.disjoint = {{0, 3}};
  EXPECT_FALSE(ParseModule(SerializeModule(pair)));
  PtxModule alloc = Small();
  alloc.steps[0].kind = StepKind::Alloc;
  EXPECT_FALSE(ParseModule(SerializeModule(alloc)));
  EXPECT_FALSE(ParseModule(""));
  EXPECT_FALSE(ParseModule("frazil ptx 1\nprogram 99999999999999999999\n"));
}

}  // namespace
}  // namespace frazil::targets::cuda
