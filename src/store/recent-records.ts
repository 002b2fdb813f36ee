import { openRecentlyUsed, weightOf, type RecentlyUsed } from '../protocol/recently-used.ts'

/**
 * Bytes of records kept at least, of those that were read last; at most twice as many. A caller chooses which clients are
 * looked up, and a registration holds up to 16 KiB, so a number of records would be no bound (threats.md BND-05).
 */
const KEPT_BYTES = 16 * 1024 * 1024

/** The memory of both record caches, bounded by bytes. */
export function openRecentRecords<Kept extends object>(): RecentlyUsed<Kept> {
  return openRecentlyUsed<Kept>(KEPT_BYTES, weightOf)
}
