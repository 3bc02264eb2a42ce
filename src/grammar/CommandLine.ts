export interface CommandLine { readonly text: string; readonly name: string; readonly rest: string }
