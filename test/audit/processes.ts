import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openChains } from '../../src/audit/chain.ts'
import { openAuditRecorder } from '../../src/audit/recorder.ts'
import { openLog } from '../../src/server/log.ts'
import type { StoreObserver } from '../../src/ports/observers.ts'
import { openBatchingStore } from '../../src/store/batching-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { AUDIT_SECRETS, listLinks } from '../store/contract/chains.ts'
import { NOW } from '../support/records.ts'
import { temporaryFolder } from '../support/server.ts'
import { openSteadyClock } from '../support/clocks.ts'

/** Opens processes that record on one file, at one time. Each has a log of its own. `patienceMs`: how long a commit waits for the lock. */
export function openProcesses(t: TestContext, { patienceMs = 1000 } = {}) {
  const clock = openSteadyClock()
  const path = join(temporaryFolder(t), 'grantor.db')
  const drivers = new Set<ReturnType<typeof openSqliteStore>>()
  t.after(async () => {
    for (const driver of drivers) await driver.close()
  })

  function open(observer?: StoreObserver) {
    const { now } = clock
    const chains = openChains({
      digest: (parts) => AUDIT_SECRETS.digest('audit', parts),
      clock: now,
      random: randomBytes,
    })
    const driver = openSqliteStore({ path, patienceMs, checkpoints: 'inline', audit: chains })
    drivers.add(driver)
    const store = openBatchingStore(driver, observer)
    const lines: Readonly<Record<string, unknown>>[] = []
    const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>)
    const logger = openLog('info', { write, flush: async () => undefined }, {})
    const close = (): void => void (drivers.delete(driver) && driver.close())
    return { store, recorder: openAuditRecorder({ clock: now, store, chains, logger, refreshIdleMs: 0 }), lines, close }
  }

  const reader = open()
  return { open, clock, path, links: () => listLinks(reader.store, NOW) }
}
