/** Text without what terminals take for commands. */
// eslint-disable-next-line no-control-regex
export const plain = (text: string): string => text.replace(/\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)/g, '').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '')
