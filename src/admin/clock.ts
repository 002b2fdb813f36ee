import * as z from 'zod'
import { ISO, iso } from '../base/iso.ts'
import { defineTask, type Task } from './task.ts'

export const CLOCK_TASKS: readonly Task[] = [
  defineTask({
    name: 'clock.confirm',
    method: 'POST',
    path: '/admin/v1/clock/confirm',
    access: 'write',
    anyClock: true,
    summary:
      'Confirm that the clock of this machine is right, after it stepped or the server was stopped for a long time.',
    input: z.object({}),
    output: z.object({
      time: ISO.describe('The time by the clock that decides.'),
      decided_by: z
        .enum(['operator', 'database'])
        .describe('database: the clock of the database decides, and the confirmation changes nothing.'),
    }),
    async run({ clockCheck, store }) {
      const there = await clockCheck.databaseNow()
      if (there !== undefined) return { time: iso(there), decided_by: 'database' as const }
      const now = clockCheck.wall()
      await store.confirmClock({ now })
      return { time: iso(now), decided_by: 'operator' as const }
    },
  }),
]
