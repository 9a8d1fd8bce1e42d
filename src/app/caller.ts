/** Who asks: his environment and the labels that his sessions get. */
export interface Caller {
  readonly env: Readonly<Record<string, string>>;
  readonly work_dir: string;
  readonly umask: number | undefined;
  /** His soft limit of open files. */
  readonly open_files?: number | undefined;
  readonly workspace_id: string;
  readonly user_id: string | undefined;
}
