// A store written by an attacker who knows everything but the key: 12,000 entries, each wrong in its own way, with
// honest ones among them. It opens, it hangs nowhere, and only the honest ones are served.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "store/format.h"
#include "store/test_store.h"

namespace frazil::store {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t Entries = 12'000;

class Adversary {
 public:
  explicit Adversary(const std::string& directory)
      : directory_(directory), store_(OpenQuickly(directory)) {
    theirs_ = store_->key();
    theirs_[31] ^= 0x80;
  }

  // Puts entry i in place, in the way of its kind. True: it is honest.
  bool Plant(uint64_t i) {
    switch (i % Kinds) {
      case 0: return Honest(i);
      case 1: return Content(i, Frame(Kind::Content, "evil"));
      case 2:
        return Raw(RecordPath(directory_, KeyOf(i)), RecordFile(i + 1, Sealed(i + 1)));  // swapped
      case 3:
        return Content(i, Frame(Kind::Content, Sealed(i)).substr(0, 20 + i % 200));  // truncated
      case 4:
        return Raw(RecordPath(directory_, KeyOf(i)), RecordFile(i, Sealed(i)).substr(0, i % 150));
      case 5:
        return store_->Put(KeyOf(i), Sealed(i + 3)), false;  // ours, replayed from another key
      case 6: return HigherLevel(i);
      case 7: return OtherVersion(i);
      case 8: return Evil(i, theirs_);  // sealed with another key
      case 9: return FlippedCode(i);
      case 10: return Link(i, ContentPath(directory_, Sealed(0)));
      case 11: return Link(i, i % 2 == 0 ? "/dev/zero" : ContentPath(directory_, Sealed(i)));
      case 12: return InPlaceOf(i, [](const std::string& path) { fs::create_directory(path); });
      case 13:
        return InPlaceOf(i,
                         [](const std::string& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); });
      case 14: return InPlaceOf(i, [](const std::string& path) { Sparse(path); });
      case 15:
        return Raw(
            i % 2 == 0 ? RecordPath(directory_, KeyOf(i)) : ContentPath(directory_, Sealed(i)), "");
      case 16: return Raw(RecordPath(directory_, KeyOf(i)), Garbage(i));
      case 17: return Claims(i);
      case 18: return Traversal(i);
      case 19: return Banned(i);
      case 20: return WeakEvidence(i);
      case 21: return Unsealed(i);
      case 22:
        return Raw(RecordPath(directory_, KeyOf(i)),
                   RecordFile(i, Sealed(i)));  // of content that is not there
      case 23: return InPlaceOf(i, [](const std::string& path) { Socket(path); });
      default: return OtherMac(i);
    }
  }
  static constexpr uint64_t Kinds = 25;

 private:
  std::string Sealed(uint64_t i) const { return SealedOf(FormOf(i), store_->key()); }
  bool Honest(uint64_t i) { return store_->Put(KeyOf(i), Sealed(i)); }
  bool Raw(const std::string& path, std::string_view bytes) {
    WriteAll(path, bytes);
    return false;
  }
  std::string RecordFile(uint64_t i, std::string_view sealed) const {
    return Frame(Kind::Record, PrintRecord({Sha256Hex(sealed), sealed.size(), KeyOf(i).Text()}));
  }
  // The honest record, and these bytes where its content should be.
  bool Content(uint64_t i, std::string_view file) {
    Raw(RecordPath(directory_, KeyOf(i)), RecordFile(i, Sealed(i)));
    return Raw(ContentPath(directory_, Sealed(i)), file);
  }
  // Whole and right in every digest, but sealed by nobody of ours: what a careful attacker writes.
  bool Careful(uint64_t i, const std::string& sealed) {
    Raw(RecordPath(directory_, KeyOf(i)), RecordFile(i, sealed));
    return Raw(ContentPath(directory_, sealed), Frame(Kind::Content, sealed));
  }
  bool Evil(uint64_t i, const verify::InstallKey& key) {
    exec::CompiledForm form = FormOf(i);
    form.payload = "\xcc evil";
    return Careful(i, SealedOf(form, key));
  }
  bool HigherLevel(uint64_t i) {
    exec::CompiledForm form = FormOf(i);
    StoreKey key = KeyOf(i);
    form.profile = "avx512";
    if (key.profile == "avx512") form.target = "another";
    return store_->Put(key, SealedOf(form, store_->key())), false;
  }
  bool OtherVersion(uint64_t i) {
    std::string sealed = Sealed(i);
    sealed[8 + 4 * (i % 3)] ^= 3;  // schema, IR or ABI
    if (i % 2 == 0) return Careful(i, sealed);
    std::string file = Frame(Kind::Content, Sealed(i));
    file[8] ^= 2;
    return Content(i, file);
  }
  bool FlippedCode(uint64_t i) {
    std::string sealed = Sealed(i);
    sealed[sealed.find("code ") + 20 + i % 200] ^= 1;
    return Careful(i, sealed);
  }
  bool OtherMac(uint64_t i) {
    exec::CompiledForm form = FormOf(i);
    form.payload += "evil";
    const std::string honest = Sealed(i), evil = SealedOf(form, theirs_);
    return Careful(i, evil.substr(0, evil.size() - 32) + honest.substr(honest.size() - 32));
  }
  template <typename Make>
  bool InPlaceOf(uint64_t i, Make make) {
    Content(i, "");
    const std::string path =
        i % 2 == 0 ? RecordPath(directory_, KeyOf(i)) : ContentPath(directory_, Sealed(i));
    fs::remove(path);
    make(path);
    return false;
  }
  bool Link(uint64_t i, const std::string& target) {
    return InPlaceOf(i, [&](const std::string& path) { fs::create_symlink(target, path); });
  }
  static void Sparse(const std::string& path) {
    WriteAll(path, Frame(Kind::Content, "x"));
    fs::resize_file(path, uint64_t{1} << 36);
  }
  static void Socket(const std::string& path) {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    // The address has no room for long paths: bound beside, then moved.
    const std::string near = fs::path(path).parent_path().parent_path().string() + "/s";
    near.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << near;
    close(fd);
    fs::rename(near, path);
  }
  static std::string Garbage(uint64_t i) {
    std::minstd_rand random(static_cast<uint32_t>(i) + 1);
    std::string bytes(i % 1000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    return bytes;
  }
  // Frames and records that claim more than there is.
  bool Claims(uint64_t i) {
    std::string file = Frame(Kind::Content, Sealed(i));
    for (int b = 0; b < 8; ++b) file[16 + b] = static_cast<char>(0xff);
    if (i % 2 == 0) return Content(i, file);
    return Raw(
        RecordPath(directory_, KeyOf(i)),
        Frame(Kind::Record, PrintRecord({Sha256Hex(Sealed(0)), ~uint64_t{0}, KeyOf(i).Text()})));
  }
  bool Traversal(uint64_t i) {
    const std::string content = std::string("../../../../../../etc/passwd").append(36, '/');
    return Raw(RecordPath(directory_, KeyOf(i)),
               Frame(Kind::Record, PrintRecord({content, 10, KeyOf(i).Text()})));
  }
  bool Banned(uint64_t i) {
    store_->Put(KeyOf(i), Sealed(i));
    store_->Ban(FormOf(i).candidate_exact, "caught");
    return false;
  }
  bool WeakEvidence(uint64_t i) {
    const verify::EvidencePair weak = {{verify::Grade::Sampled, "test", "", 1},
                                       {verify::Grade::Sampled, "test", "", 1}};
    return store_->Put(KeyOf(i),
                       verify::Seal(verify::Judge::Vouch(FormOf(i), weak), store_->key())),
           false;
  }
  // A form without a seal around it, and without a MAC.
  bool Unsealed(uint64_t i) {
    const std::string sealed = Sealed(i);
    return Careful(i, sealed.substr(0, i % 4 == 1 ? sealed.size() - 32 : i % 40));
  }

  std::string directory_;
  std::unique_ptr<Store> store_;
  verify::InstallKey theirs_;
};

TEST(StoreAdversary, OnlyTheHonestAreServed) {
  TempFolder folder;
  std::vector<bool> honest(Entries);
  {
    Adversary adversary(folder.path());
    for (uint64_t i = 0; i < Entries; ++i) honest[i] = adversary.Plant(i);
    ASSERT_FALSE(HasFatalFailure());
  }
  // Looked through first while all of it is there, without changing anything.
  auto reader = OpenQuickly(folder.path(), true);
  EXPECT_GT(reader->Audit().size(), Entries / 2);
  EXPECT_GE(reader->List().size(), Entries / Adversary::Kinds);
  for (const bool read_only : {true, false}) {
    auto store = OpenQuickly(folder.path(), read_only);
    ASSERT_EQ(store->reason(), "");
    uint64_t served = 0;
    for (uint64_t i = 0; i < Entries; ++i) {
      auto found = store->FindVerified(KeyOf(i), {});
      ASSERT_EQ(found.has_value(), honest[i]) << "entry " << i << ", kind " << i % Adversary::Kinds;
      if (found) {
        ++served;
        ASSERT_EQ(**found, FormOf(i));
      }
      const auto proposal = store->FindForeign(KeyOf(i));
      EXPECT_TRUE(!proposal || proposal->payload.empty());
    }
    EXPECT_EQ(served, Entries / Adversary::Kinds);
    const StoreStats stats = store->stats();
    for (const char* reason :
         {"truncated", "magic", "version", "digest", "key", "record", "content", "size", "symlink",
          "not a file", "mac", "replayed", "banned", "policy"})
      EXPECT_GT(stats.refused.contains(reason) ? stats.refused.at(reason) : 0, 0u)
          << reason << read_only;
  }
  auto store = OpenQuickly(folder.path());
  store->CollectGarbage(1 << 30, 90);
  for (uint64_t i = 0; i < Entries; i += Adversary::Kinds)
    EXPECT_TRUE(store->FindVerified(KeyOf(i), {}));
}

}  // namespace
}  // namespace frazil::store
