import { ID_LENGTH } from '../../protocol/ids.ts'

const MS_DIGITS = 12
/** Of these per millisecond about 1,500 are taken by the characters of ids, so that few rows come to stand elsewhere. */
const SLOTS_PER_MS = 2048

/**
 * The row number at which the row of a time-ordered id stands, unless another one stands there: its milliseconds and two of
 * its random characters. A row is found by it in one page that was not read before; by the id it takes two, because the
 * pages above the rows hold whole ids, and do not fit into memory when there are millions. NaN for a text that is no id.
 */
export function slotOf(id: string): number {
  const start = id.length - ID_LENGTH
  const ms = Number.parseInt(id.slice(start, start + MS_DIGITS), 16)
  const own = start + MS_DIGITS
  return ms * SLOTS_PER_MS + (id.charCodeAt(own) & 63) * 32 + (id.charCodeAt(own + 1) & 31)
}
