import { openRecentlyUsed, weightOf, type RecentlyUsed } from '../base/recently-used.ts'

/**
 * The most recently read records are kept, at least this many bytes and at most twice as many. The limit is in bytes because
 * a caller chooses which clients are looked up, and a registration may have 16 KiB (threats.md BND-05).
 */
const KEPT_BYTES = 16 * 1024 * 1024

/** The memory of both record caches, limited in bytes. */
export function openRecentRecords<Kept extends object>(): RecentlyUsed<Kept> {
  return openRecentlyUsed<Kept>(KEPT_BYTES, weightOf)
}
