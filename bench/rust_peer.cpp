// Loaded, not linked: benchmarks build and run without Rust.
#include "rust_peer.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace frazil::bench {
namespace {

void* Load(const char* name) {
  const char* folder = std::getenv("FRAZIL_PEERS");
  return ::dlopen(
      (std::string(folder != nullptr ? folder : "build/bench/peers") + "/" + name).c_str(),
      RTLD_NOW);
}

template <typename Function>
bool Find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

const FieldPeer* GetFieldPeer() {
  static FieldPeer peer;
  static const bool found = [] {
    void* library = Load("libfrazil_peer_field.so");
    return library != nullptr && Find(library, "frazil_peer_field_width", peer.width) &&
           Find(library, "frazil_peer_field_multiply", peer.multiply) &&
           Find(library, "frazil_peer_field_accumulate", peer.accumulate) &&
           Find(library, "frazil_peer_field_dot", peer.dot);
  }();
  return found ? &peer : nullptr;
}

const MachinePeer* GetMachinePeer() {
  static MachinePeer peer;
  static const bool found = [] {
    void* library = Load("libfrazil_peer_machine.so");
    return library != nullptr && Find(library, "frazil_peer_tip5_permute", peer.permute) &&
           Find(library, "frazil_peer_tip5_hash_pairs", peer.hash_pairs) &&
           Find(library, "frazil_peer_machine_new", peer.make) &&
           Find(library, "frazil_peer_machine_run", peer.run) &&
           Find(library, "frazil_peer_machine_trace", peer.trace) &&
           Find(library, "frazil_peer_machine_free", peer.free);
  }();
  return found ? &peer : nullptr;
}

}  // namespace frazil::bench
