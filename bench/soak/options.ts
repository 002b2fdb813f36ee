import { number, optional, SAVE, STORE, whole, type ValuesOf } from '../../tools/options.ts'

/** The most rotations. The oldest keys are withdrawn, so that the server never publishes more keys than it may. */
const MOST_ROTATIONS = 60

export const OPTIONS = {
  minutes: number('duration of the load', 30, [0.1, 24 * 60]),
  connections: whole('concurrent connections', 32, [1, 500]),
  rate: optional(number('requests a second; without it as fast as the answers come', 1, [1, 1e6])),
  rows: whole('clients, families and redeemed codes at the start', 100_000, [1, 1e7]),
  rotations: whole('changes of the signing key', 6, [0, MOST_ROTATIONS]),
  sample: number('seconds between two samples', 10, [1, 600]),
  settle: number('seconds after the load in which sweeps end, before rows are counted', 30, [0, 600]),
  store: STORE,
  save: SAVE,
}
export type SoakOptions = ValuesOf<typeof OPTIONS>
