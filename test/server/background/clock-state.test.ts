import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { EpochMs } from '../../../src/base/brand.ts'
import { CLOCK_TOLERANCE_MS, STEADY_MS } from '../../../src/base/clock.ts'
import {
  advanceClock,
  deletionTime,
  differenceMs,
  UNCOMPARED,
  type ClockEvent,
  type ClockState,
  type Reading,
} from '../../../src/server/background/clock-state.ts'

const START = 1_800_000_000_000
const REPLY_MOST_MS = 3000
const NO_NOTES = { node: undefined, confirmation: undefined }

/** What happens to a node: time passes, its wall clock steps, or something is read. */
type Happening =
  | { readonly kind: 'wait' | 'step'; readonly ms: number }
  | { readonly kind: 'compare'; readonly replyMs: number }
  | { readonly kind: 'read' | 'noted' }

const HAPPENING: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 15_000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      ms: fc.oneof(fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: -3_600_000, max: 3_600_000 })),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('compare' as const),
      replyMs: fc.integer({ min: 0, max: REPLY_MOST_MS }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('read' as const, 'noted' as const) }) },
)

/** Lets all of it happen to a node, and shows each state together with the true time. */
function live(
  happenings: readonly Happening[],
  hasSecondClock: boolean,
  look: (before: ClockState, state: ClockState, now: Reading, truth: number, event: ClockEvent | undefined) => void,
): void {
  let state = UNCOMPARED
  let at = 0
  let stepped = 0
  const read = (): Reading => ({ wall: (START + at + stepped) as EpochMs, at })
  for (const happening of [{ kind: 'compare', replyMs: 0 } as const, ...happenings]) {
    const before = state
    let event: ClockEvent | undefined
    if (happening.kind === 'wait') at += happening.ms
    else if (happening.kind === 'step') stepped += happening.ms
    else if (happening.kind === 'compare') {
      const asked = read()
      at += happening.replyMs
      const there = Math.round(START + at - happening.replyMs / 2) as EpochMs
      event = hasSecondClock ? { kind: 'database', there, asked } : { kind: 'notes', notes: NO_NOTES }
    } else event = { kind: happening.kind }
    if (event !== undefined) state = advanceClock(state, event, read())
    look(before, state, read(), START + at, event)
  }
}

for (const hasSecondClock of [true, false]) {
  test(`STO-13: a deletion time is never ahead of the reference, ${hasSecondClock ? 'with' : 'without'} a clock of the database`, () => {
    let looks = 0
    fc.assert(
      fc.property(fc.array(HAPPENING, { minLength: 20, maxLength: 60 }), (happenings) =>
        live(happenings, hasSecondClock, (_, state, now, truth) => {
          const deletions = deletionTime(state, now)
          if (deletions === undefined) return
          looks += 1
          assert.ok(deletions <= now.at + state.offset + CLOCK_TOLERANCE_MS)
          // What two clocks differ by unnoticed, and what a reply hides.
          if (hasSecondClock) assert.ok(deletions <= truth + 2 * CLOCK_TOLERANCE_MS + REPLY_MOST_MS)
        }),
      ),
      { numRuns: 2000, seed: 1 },
    )
    assert.ok(looks > 10_000, String(looks))
  })
}

test('STO-13: without a second clock, a step is followed only after comparisons of ten seconds that saw no other', () => {
  let followed = 0
  fc.assert(
    fc.property(fc.array(HAPPENING, { minLength: 20, maxLength: 60 }), (happenings) => {
      /** The comparisons: how far the wall clock was from the monotonic clock, and when. */
      const compared: { readonly offset: number; readonly at: number }[] = []
      live(happenings, false, (before, state, now, _, event) => {
        if (event?.kind !== 'notes') return
        const offset = now.wall - now.at
        compared.push({ offset, at: now.at })
        const isFollowed = differenceMs(before, now) !== 0 && differenceMs(state, now) === 0
        if (!isFollowed || compared.length === 1) return
        followed += 1
        const other = compared.findLast((one) => Math.abs(one.offset - offset) > 2 * CLOCK_TOLERANCE_MS)
        const first = compared.find(({ at }) => at > (other?.at ?? -1))
        assert.ok(first !== undefined && now.at - first.at >= STEADY_MS, JSON.stringify(compared.slice(-5)))
      })
    }),
    { numRuns: 2000, seed: 1 },
  )
  assert.ok(followed > 100, String(followed))
})
