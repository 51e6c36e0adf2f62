"""python -m lycosa: the command line."""

from lycosa.cli import main

if __name__ == "__main__":
    main()
