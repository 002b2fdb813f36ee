import { freePort } from '../test/support/free-port.ts'

/** Ports on which no process listens and which no other tool or test uses until this process ends. */
export function freePorts(count: number): Promise<readonly number[]> {
  return Promise.all(Array.from({ length: count }, freePort))
}
