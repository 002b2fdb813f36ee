import { type NounOperations, when } from '../noun.ts'

/** The rows of OPERATIONS for signing keys and the master key. */
export const KEY_OPERATIONS = {
  rewrapMasterKey: {
    cache: 'kept',
    event: when('rewrapped', () => ({ event: 'secret.rotated', details: { leaked: false } })),
  },
  replaceMasterKey: {
    cache: 'kept',
    event: when('replaced', () => ({ event: 'secret.rotated', details: { leaked: true } })),
  },
} satisfies NounOperations
