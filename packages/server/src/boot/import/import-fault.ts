/** A faulty mapping or option; the message is for the person at the terminal. */
export class ImportFault extends Error {
  override readonly name = 'ImportFault'
}
