#include "base/system/build_id.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace frazil {
namespace {

TEST(BuildId, AProgramAndItsFileSayTheSame) {
  // 20 bytes: a digest of the whole program (cmake/FrazilCompiler.cmake), not the short hash of lld's own choice.
  EXPECT_EQ(OwnBuildId().size(), 40u) << OwnBuildId();
  EXPECT_EQ(BuildIdOfFile("/proc/self/exe"), OwnBuildId());
}

TEST(BuildId, WhatHasNoneSaysNothing) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string head(512, '\0');
  self.read(head.data(), static_cast<std::streamsize>(head.size()));
  const std::string path = testing::TempDir() + "build_id_" + std::to_string(getpid());
  std::string endless = head;
  endless[56] = endless[57] = '\xff';  // e_phnum
  for (const std::string& bytes : {std::string(), std::string("#!/bin/sh\nexec true\n"),
                                   head.substr(0, 63), head.substr(0, 70), endless}) {
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_EQ(BuildIdOfFile(path), "");
  }
  std::remove(path.c_str());
  EXPECT_EQ(BuildIdOfFile(path), "");
  EXPECT_EQ(BuildIdOfFile("/"), "");
  EXPECT_EQ(BuildIdOfFile(""), "");
}

}  // namespace
}  // namespace frazil
