// Whether this is built with a sanitizer: code then takes ten times as long and maps memory of its own.
#pragma once

namespace frazil {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool Sanitized = true;
#elif defined(__has_feature)
inline constexpr bool Sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool Sanitized = false;
#endif

}  // namespace frazil
