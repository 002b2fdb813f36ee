import type { KeyDocument } from '../../admin/key/tasks.ts'
import { html, type Fragment } from '../../web/markup.ts'
import { actions, asking, formOf } from '../engine/buttons.ts'
import { table } from '../list.ts'
import { chip, id, time } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Form, Frame } from '../engine/form.ts'

type Key = KeyDocument & { readonly state: string }

interface Answers {
  readonly list: { readonly keys: readonly Key[] }
}

const ROTATE: Form = {
  kind: 'create',
  task: 'key.rotate',
  fields: ['purpose', 'algorithm', 'now'],
}

const RETIRE: Form = {
  kind: 'change',
  task: 'key.retire',
  rows: { member: 'kid' },
}

/** The published signing keys: those of tokens and of ID tokens, by their state. */
export const KEYS = screen<Answers>({
  path: '/console/keys',
  section: 'keys',
  reads: { list: { task: 'key.list', input: () => ({}) } },
  filters: [],
  forms: [ROTATE, RETIRE],
  names: ({ list }) => Object.fromEntries(list.keys.map((key) => [key.kid, `${key.algorithm} key ${key.kid}`])),
  view: ({ list }, frame) => ({
    title: 'Keys',
    main: html`<div class="heading">
        <h1>Keys</h1>
        ${actions(frame, formOf(frame, ROTATE.task))}
      </div>
      <p class="sub">The key that signs cannot be withdrawn: create the next one first.</p>
      ${table(frame, {
        caption: 'Signing keys, oldest first',
        rows: list.keys,
        empty: html`<p>The server creates the first key when it starts.</p>`,
        columns: [
          { heading: 'Signs', cell: ({ purpose }) => (purpose === 'id' ? 'ID tokens' : 'access tokens') },
          { heading: 'Algorithm', role: 'meta', cell: ({ algorithm }) => algorithm },
          { heading: 'State', role: 'badge', cell: stateOf },
          { heading: 'Id', cell: ({ kid }) => id(kid) },
          { heading: 'Created', isWide: true, cell: (key) => time(key.created_at, frame) },
          { heading: 'Signing begins', role: 'meta', cell: (key) => time(key.active_from, frame) },
          ...(formOf(frame, RETIRE.task).length === 0
            ? []
            : [{ heading: 'Action', isAction: true as const, cell: (key: Key) => withdraw(frame, key) }]),
        ],
      })}`,
  }),
})

const STATES: Readonly<Record<string, Fragment>> = {
  next: chip('Signs later', 'quiet'),
  signing: chip('Signs', 'good'),
  verifying: chip('Verifies', 'quiet'),
}

function stateOf({ state }: Key): Fragment {
  return STATES[state] ?? state
}

function withdraw(frame: Frame, { kid, state }: Key): Fragment {
  return state === 'signing' ? undefined : asking(frame, formOf(frame, RETIRE.task), kid)
}
