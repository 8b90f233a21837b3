"""The machine that the doctor examines: its files, its environment, its commands. A made-up one is below a folder (--root)."""

from __future__ import annotations

import fnmatch
import os
import subprocess

LIMIT = 20  # seconds for one command


class Machine:
    """All paths are the machine's own: "/usr/lib" means usr/lib below the root folder."""

    def __init__(self, root: str = "/", environment: dict[str, str] | None = None) -> None:
        self.root = "" if root == "/" else os.path.abspath(root)
        self.environment = dict(os.environ if environment is None else environment)

    @property
    def is_real(self) -> bool:
        return not self.root

    # ---- files

    def real(self, path: str) -> str:
        """Resolves symbolic links, absolute ones below the root. A dangling link resolves to where it points."""
        if self.is_real:
            return os.path.realpath(path)
        done, left, followed = "/", [part for part in path.split("/") if part], 0
        while left:
            part = left.pop(0)
            here = os.path.normpath(os.path.join(done, part))
            if os.path.islink(self.root + here) and followed < 40:
                followed += 1
                target = os.readlink(self.root + here)
                done = "/" if target.startswith("/") else done
                left = [step for step in target.split("/") if step] + left
            else:
                done = here
        return done

    def outside(self, path: str) -> str:
        """The path with which this process opens the file."""
        return self.root + self.real(path)

    def exists(self, path: str) -> bool:
        return os.path.exists(self.outside(path))

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(self.outside(path))

    def may_use(self, path: str) -> bool:
        return os.access(self.outside(path), os.R_OK | os.W_OK)

    def read(self, path: str) -> str | None:
        """A text file, or None."""
        try:
            with open(self.outside(path), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted; an empty list if it does not exist."""
        try:
            return sorted(os.listdir(self.outside(folder)))
        except OSError:
            return []

    def glob(self, pattern: str) -> list[str]:
        """The paths that match a pattern such as /usr/local/cuda*/bin."""
        found = ["/"]
        for part in pattern.strip("/").split("/"):
            if not any(sign in part for sign in "*?["):
                found = [os.path.join(path, part) for path in found]
            else:
                found = [os.path.join(path, name) for path in found for name in self.names(path) if fnmatch.fnmatch(name, part)]
        return [path for path in found if self.exists(path)]

    # ---- environment and commands

    def variable(self, name: str) -> str:
        return self.environment.get(name, "")

    def folders(self, name: str) -> list[str]:
        """A variable that lists folders. An empty entry means the current folder and is left out; on a made-up machine, so is a relative one."""
        listed = [folder for folder in self.variable(name).split(":") if folder]
        return [os.path.abspath(folder) if self.is_real else folder for folder in listed if self.is_real or folder.startswith("/")]

    def which(self, command: str) -> str | None:
        """The first such command on the PATH."""
        if "/" in command:
            return command if self.exists(command) else None
        for folder in self.folders("PATH"):
            path = os.path.join(folder, command)
            if self.exists(path) and os.access(self.outside(path), os.X_OK) and not os.path.isdir(self.outside(path)):
                return path
        return None

    def run(self, *command: str) -> str | None:
        """What a command prints on stdout, or None if it cannot be run or fails. The commands of a made-up machine are run, too."""
        path = self.which(command[0])
        if not path:
            return None
        words = [self.outside(path) if self.root else path, *command[1:]]
        try:
            ended = subprocess.run(words, env=self.environment, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return ended.stdout if ended.returncode == 0 else None
