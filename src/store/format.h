// What stands in the files of a store: the frame that every file has, the text of a key, the record that joins a
// key to its content. Pure functions of bytes; nothing here touches a disk.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "store/reasons.h"
#include "store/store.h"

namespace frazil::store {

// Part of every file and, through the key, of every name: raising it makes all older entries misses.
constexpr uint32_t SchemaVersion = 1;

enum class Kind : uint32_t { Content = 1, Record = 2, Ban = 3 };

// magic 8 | schema 4 | kind 4 | length 8 | SHA-256 of the payload 32 | payload; numbers are little-endian.
constexpr size_t FrameBytes = 56;
std::string Frame(Kind kind, std::string_view payload);
// The payload of a frame that holds in every respect.
std::expected<std::string_view, Reason> Unframe(Kind kind, std::string_view file);
// The digest that a frame carries, as hex; only of a file that Unframe accepts.
std::string FrameDigest(std::string_view file);

struct Record {
  std::string content;  // digest of the content's bytes
  uint64_t bytes = 0;   // how many they are
  std::string key;      // StoreKey::Text
};
std::string PrintRecord(const Record& record);
std::expected<Record, Reason> ParseRecord(std::string_view payload);
// Of an old record or a foreign one: fails where the text is not one that StoreKey::Text writes today.
std::expected<StoreKey, Reason> ParseKey(std::string_view text);

bool IsDigest(std::string_view text);  // 64 lower-case hex digits

}  // namespace frazil::store
