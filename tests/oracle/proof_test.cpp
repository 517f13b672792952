// Proofs: made, verified, and refused when anything about them is changed. Small heights: the prover is slow.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "compare.h"
#include "oracle_fixture.h"

namespace frazil::tests {
namespace {

namespace tasm = machines::tasm;
namespace fs = std::filesystem;

class Proofs : public OracleTest {
 protected:
  void SetUp() override {
    OracleTest::SetUp();
    folder_ = fs::temp_directory_path() / ("frazil_proofs_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  static std::string Bytes(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  fs::path folder_;
};

TEST_F(Proofs, ProveVerifyAndRefuse) {
  const Result<oracle::Job> job =
      ReadJob("// input: 3,4\n// secret: 5\nread_io 2 divine 1 mul add write_io 1 halt", "sum");
  ASSERT_TRUE(job.has_value());
  const fs::path file = folder_ / "sum.proof";
  const Result<oracle::ProveAnswer> proof = session_.Prove(*job, file.string());
  ASSERT_TRUE(proof.has_value()) << proof.error().ToString();
  ASSERT_FALSE(proof->run.crash.has_value());
  EXPECT_EQ(proof->padded_height, 256u);
  EXPECT_EQ(proof->claim.input, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(proof->claim.output, (std::vector<uint64_t>{23}));
  EXPECT_EQ(proof->profile, tasm::Trace(job->program, job->inputs).profile);

  const tasm::Digest digest = tasm::ProgramDigest(job->program);
  const Result<oracle::VerifyAnswer> good = session_.Verify(file.string(), digest);
  ASSERT_TRUE(good.has_value()) << good.error().ToString();
  EXPECT_TRUE(good->holds) << good->reason;
  EXPECT_EQ(good->claim.program_digest, digest);
  EXPECT_EQ(good->claim.output, (std::vector<uint64_t>{23}));
  EXPECT_EQ(good->padded_height, 256u);

  tasm::Digest other = digest;
  other[0] ^= 1;
  const Result<oracle::VerifyAnswer> wrong = session_.Verify(file.string(), other);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_FALSE(wrong->holds);
  EXPECT_NE(wrong->reason.find("another program"), std::string::npos);

  // Words of the file: magic, format, version, digest (3..7), inputs (8: count, 9, 10), outputs (11: count, 12), proof.
  const std::string bytes = Bytes(file);
  ASSERT_GT(bytes.size(), 1000u);
  for (const size_t word :
       {2u, 3u, 7u, 9u, 12u, 14u, 200u, 5000u, static_cast<unsigned>(bytes.size() / 8 - 1)}) {
    std::string changed = bytes;
    changed[8 * word] ^= 1;
    const Result<oracle::VerifyAnswer> verdict =
        session_.Verify(Write("changed", changed).string());
    EXPECT_TRUE(!verdict.has_value() || !verdict->holds) << "word " << word;
  }
  for (const size_t size : {size_t{0}, size_t{7}, size_t{8}, size_t{60}, bytes.size() / 2,
                            bytes.size() - 8, bytes.size() - 1}) {
    const Result<oracle::VerifyAnswer> verdict =
        session_.Verify(Write("cut", bytes.substr(0, size)).string());
    EXPECT_FALSE(verdict.has_value()) << "size " << size;
  }
  EXPECT_FALSE(session_.Verify(Write("longer", bytes + "12345678").string()).has_value());
  std::string huge = bytes;
  huge.replace(8 * 8, 8, 8, '\x7f');  // a count far beyond the file
  EXPECT_FALSE(session_.Verify(Write("huge", huge).string()).has_value());
}

TEST_F(Proofs, CrashedRunsHaveNoProof) {
  const Result<oracle::Job> job = ReadJob("push 0 assert halt", "crash");
  ASSERT_TRUE(job.has_value());
  const fs::path file = folder_ / "none.proof";
  const Result<oracle::ProveAnswer> proof = session_.Prove(*job, file.string());
  ASSERT_TRUE(proof.has_value()) << proof.error().ToString();
  ASSERT_TRUE(proof->run.crash.has_value());
  EXPECT_EQ(proof->run.crash->kind, tasm::CrashKind::AssertionFailed);
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace frazil::tests
