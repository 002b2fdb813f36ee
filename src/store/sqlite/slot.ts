import { ID_LENGTH } from '../../protocol/ids.ts'

const MS_DIGITS = 12
/** Row numbers per millisecond. The two id characters use about 1,500 of them, so that collisions are rare. */
const SLOTS_PER_MS = 2048

/**
 * Returns the preferred row number (rowid) for a row whose id is ordered by time: the id's milliseconds and two of its
 * random characters. If that number is taken, the row gets another one.
 *
 * Finding a row by its number reads one page that is not in memory yet. Finding it by id reads two, because the index pages
 * above the rows hold whole ids and do not fit into memory when there are millions of rows. NaN for a text that is not an
 * id.
 */
export function slotOf(id: string): number {
  const start = id.length - ID_LENGTH
  const ms = Number.parseInt(id.slice(start, start + MS_DIGITS), 16)
  const own = start + MS_DIGITS
  return ms * SLOTS_PER_MS + (id.charCodeAt(own) & 63) * 32 + (id.charCodeAt(own + 1) & 31)
}
