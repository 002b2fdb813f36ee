import { choice, flag, list, number, SAVE, STORE, string, whole, type ValuesOf } from '../../tools/options.ts'

/** Endpoints whose request bodies do not depend on an earlier answer, which may be a refusal. */
const ENDPOINTS = ['client_credentials', 'opaque', 'register'] as const

export const OPTIONS = {
  seconds: number('length of each load', 5, [0.1, 600]),
  factors: list(number('offered rates, relative to the capacity of the server', 1, [0.01, 100]), '0.8,1.5,2,3'),
  floods: list(whole('numbers of connections that never wait', 1, [1, 9000]), '500,2000,6000'),
  hostile: list(whole('numbers of connections with wrong credentials', 1, [1, 9000]), '700,2000'),
  rounds: whole('rounds with each of these, alternating with rounds without', 5, [1, 99]),
  silent: whole('sockets that pipeline and never read, for six times --seconds; 0 for none', 200, [0, 5000]),
  console: flag('also floods at the console and beside it, with the rounds of the hostile networks'),
  indexing: flag('also tokens while the index of users is written, with the rounds of the hostile networks'),
  endpoint: choice('the endpoint to overload', ENDPOINTS),
  store: STORE,
  profile: string('folder', 'write a CPU profile of the server to this folder'),
  save: SAVE,
}
export type OverloadOptions = ValuesOf<typeof OPTIONS>
