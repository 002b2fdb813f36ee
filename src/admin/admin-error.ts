/** A task that cannot be done as asked. The message is for the operator and says what to do. */
export class AdminError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AdminError'
  }
}
