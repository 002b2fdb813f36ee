import { type NounOperations, when } from '../noun.ts'

/** The rows of OPERATIONS for signing keys and the master key. */
export const KEY_OPERATIONS = {
  addFirstKey: {
    cache: 'kept',
    event: ({ id }, first) => (first.id === id ? { event: 'key.added', details: { key: id } } : undefined),
  },
  addKey: { cache: 'kept', event: when('added', ({ key }) => ({ event: 'key.added', details: { key: key.id } })) },
  removeKey: { cache: 'kept', event: when('removed', ({ id }) => ({ event: 'key.removed', details: { key: id } })) },

  rewrapMasterKey: {
    cache: 'kept',
    event: when('rewrapped', () => ({ event: 'secret.rotated', details: { leaked: false } })),
  },
  replaceMasterKey: {
    cache: 'kept',
    event: when('replaced', () => ({ event: 'secret.rotated', details: { leaked: true } })),
  },
} satisfies NounOperations
